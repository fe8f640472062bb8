// Runs before the first paint, so that a visitor who chose a colour scheme or a language never sees the other one flash.
;(() => {
  const read = key => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }
  const chosen = read('netlet-color-scheme')
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light'
  document.documentElement.dataset.mantineColorScheme = scheme
  const language = read('netlet-language') ?? 'en'
  document.documentElement.lang = language
  // The words in index.html are the landing page's, in English.
  if (location.pathname === '/' && language === 'en') document.documentElement.dataset.first = 'landing'
})()
