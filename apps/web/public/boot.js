// Runs before the first paint, so that a visitor never sees another colour scheme or language flash.
;(() => {
  const read = key => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }
  const root = document.documentElement
  const chosen = read('netlet-color-scheme')
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset.mantineColorScheme = chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light'
  // What was chosen here; else the first of the browser's languages that there are words in.
  const wanted = [read('netlet-language'), ...navigator.languages, 'en']
  root.lang = /^zh\b/.test(wanted.find(language => language && /^(en|zh)\b/.test(language))) ? 'zh-CN' : 'en'
  // The words in index.html are the landing page's.
  if (location.pathname === '/') root.dataset.first = 'landing'
})()
