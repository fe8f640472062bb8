import { call } from '../api/client.ts'
import { mail } from '../api/routes.ts'
import { setLanguage, type Language } from '../i18n/language.ts'

/**
 * Changes the language of the pages, and that of somebody's mails with it: where that fails, the pages change all the same.
 * @returns once they have, or cannot
 */
export function chooseLanguage(language: Language, signedIn: boolean): Promise<void> {
  const changed = setLanguage(language)
  if (signedIn) void call(mail.saveLanguage, { body: { language } }).catch(() => null)
  return changed
}
