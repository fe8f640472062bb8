import { userEvent, type UserEvent } from '@testing-library/user-event'

/**
 * A user of the page. `type` inserts text at once, like a paste, because every key renders the screen. Keys such as
 * `{Enter}` are pressed. Use `keyboard` if the test is about keys.
 */
export function setupUser(): UserEvent {
  const user = userEvent.setup()
  const type: UserEvent['type'] = async (element, text, options) => {
    if (options) return user.type(element, text, options)
    const [, words = '', keys = ''] = /^([^{[]*)(.*)$/s.exec(text) ?? []
    await user.click(element)
    if (words) await user.paste(words)
    if (keys) await user.keyboard(keys)
  }
  return { ...user, type }
}
