/* Leaves words such as "how" and "a" out of a question. The search appends a wildcard to every word, so that "a" would
 * find all words that begin with it. docs/site_pages.py puts this in front of the script of the search. */
addEventListener("message", event => {
  const QUERY = 2
  if (event.data.type !== QUERY)
    return
  const words = event.data.data.split(/\s+/).filter(word => lunr.stopWordFilter(word.toLowerCase()) !== undefined)
  if (words.length)
    event.data.data = words.join(" ")
})
