import { call } from '../api/client.ts'
import { mail } from '../api/routes.ts'
import { setLanguage, type Language } from '../i18n/language.ts'

/**
 * Changes the language of the pages and of the user's mails. If saving it for the mails fails, the pages still change.
 * @returns resolves when the pages have changed; rejects if they cannot
 */
export function chooseLanguage(language: Language, signedIn: boolean): Promise<void> {
  const changed = setLanguage(language)
  if (signedIn) void call(mail.saveLanguage, { body: { language } }).catch(() => null)
  return changed
}
