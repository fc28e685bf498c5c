// A Python program on standard input, run by Pyodide in Node: node run_in_pyodide.mjs FOLDER COURSE PACKAGE...
// FOLDER holds Pyodide's files and the packages' wheels; the course is seen below /course.
import { readFileSync } from "node:fs";

const [folder, course, ...packages] = process.argv.slice(2);
const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: folder, env: { HOME: "/home/web_user" } });
await python.loadPackage(packages, { messageCallback: () => {} });
python.FS.mkdirTree("/course");
python.FS.mount(python.FS.filesystems.NODEFS, { root: course }, "/course");
python.runPython("import sys; sys.path.insert(0, '/course')");
await python.runPythonAsync(readFileSync(0, "utf8"));
