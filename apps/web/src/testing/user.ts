import { userEvent, type UserEvent } from '@testing-library/user-event'

/**
 * A person at the page. What is typed arrives at once, as when it is pasted, since every key draws the screen again;
 * keys that do something (`{Enter}`) are pressed. `keyboard` presses each key where a test is about keys.
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
