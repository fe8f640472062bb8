import { useState } from 'react'
import { DEFAULT_TEMPLATE, FORMATS, MAX_TEMPLATE, type FormatChoice } from './formats.ts'

const KEY = 'netlet-proxy-format'

/** The choice stored in this browser, if it is valid. */
export function storedChoice(): FormatChoice {
  const choice: FormatChoice = { format: 'line', template: DEFAULT_TEMPLATE }
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Record<string, unknown> | null
    const format = FORMATS.find(name => name === kept?.['format'])
    const template = kept?.['template']
    if (format) choice.format = format
    if (typeof template === 'string') choice.template = template.slice(0, MAX_TEMPLATE)
  } catch {
    // Unreadable: use the default.
  }
  return choice
}

/** The format for copying and exporting, remembered on this device. */
export function useFormatChoice() {
  const [choice, setChoice] = useState(storedChoice)
  const choose = (next: FormatChoice) => {
    setChoice(next)
    try {
      localStorage.setItem(KEY, JSON.stringify(next))
    } catch {
      // Without storage it lasts until the page closes.
    }
  }
  return [choice, choose] as const
}
