import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { currentLanguage, loadLanguage } from './i18n/language.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
const start = () => createRoot(root).render(<App />)
if (currentLanguage() === 'en') start()
// If a word list cannot be loaded, start in English.
else void loadLanguage(currentLanguage()).then(start, start)
