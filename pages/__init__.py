"""Static site of the course: every lesson with its outputs, to be read before anything is installed.

`python -m pages` runs the lessons once on this machine and writes plain files to build/site; no page asks
another computer for anything, and all of them open from a disk.

  run       lessons with their outputs, kept by content so that an unchanged one runs once
  frames    every picture that a view can show, drawn while its lesson runs; moving puts sliders under it
  quiz      fields for predictions and recall questions, from the marks that lessons have
  covers    a drawing for each lesson, on its card
  prose     Markdown to HTML: headings with anchors, mathematics as MathML, code with colours
  notebook  a notebook to HTML, by nbconvert with the template in template/
  mend      the HTML of outputs: pictures into files, tables with headings, links to pages of the site
  opening   what the first cell of a lesson says: title, minutes, claim
  front     the front page: ways in, figures from records and sources, the map of lessons; race is its replay
  site      a site while it is built: where its pages go, and their template
  build     all pages: front page, lessons, exercises, documents, records, search
  verify    links, alternative texts, outside requests and sizes of what was built
"""
