"""Pages in a real browser, judged by axe-core against WCAG 2.1 A and AA, in light and in dark colours."""

from selenium import webdriver

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-dev-shm-usage", "--window-size=1280,1600",
)  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def violations(axe, pages, profile):
    """{(page, colours, rule): elements} of all rules that a page breaks; empty where it breaks none."""
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options)
    try:
        views = [(page, colours) for page in pages for colours in ("light", "dark")]
        return {key: nodes for view in views for key, nodes in broken_rules(axe, browser, *view).items()}
    finally:
        browser.quit()


def broken_rules(axe, browser, page, colours):
    """{(page, colours, rule): elements} of one page in one set of colours."""
    browser.get(page.as_uri())
    media = {"features": [{"name": "prefers-color-scheme", "value": colours}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    outcome = axe.run(browser, options={"runOnly": RULES})
    judged = {rule["id"] for rule in outcome["passes"]}
    assert {"color-contrast", "document-title", "html-has-lang"} <= judged, "axe-core judged too little"
    return {
        (page.name, colours, rule["id"]): [node["html"][:200] for node in rule["nodes"]]
        for rule in outcome["violations"]
    }
