import { useState } from 'react'
import { DEFAULT_TEMPLATE, FORMATS, MAX_TEMPLATE, type FormatChoice } from './formats.ts'

const KEY = 'netlet-proxy-format'

/** What this browser remembers, as far as it is one. */
export function storedChoice(): FormatChoice {
  const choice: FormatChoice = { format: 'line', template: DEFAULT_TEMPLATE }
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Record<string, unknown> | null
    const format = FORMATS.find(name => name === kept?.['format'])
    const template = kept?.['template']
    if (format) choice.format = format
    if (typeof template === 'string') choice.template = template.slice(0, MAX_TEMPLATE)
  } catch {
    // Nothing that can be read: the usual lines.
  }
  return choice
}

/** How proxies are copied and exported, remembered on this device. */
export function useFormatChoice() {
  const [choice, setChoice] = useState(storedChoice)
  const choose = (next: FormatChoice) => {
    setChoice(next)
    try {
      localStorage.setItem(KEY, JSON.stringify(next))
    } catch {
      // It then holds until the page is left.
    }
  }
  return [choice, choose] as const
}
