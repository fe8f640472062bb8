/**
 * Is JSON nested deeper than `most`? Code that walks a value by recursion would fall over a value that is deep enough,
 * and nothing that is meant for us is: so it is looked at before it is parsed. Text in quotes does not count.
 */
export function isDeeperThan(json: string, most: number): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (quoted) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) quoted = false
    } else if (code === QUOTE) quoted = true
    else if (code === BRACKET || code === BRACE) {
      depth++
      if (depth > most) return true
    } else if (code === BRACKET + 2 || code === BRACE + 2) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** `[`; `]` is two further on, and so it is with braces. */
const BRACKET = 0x5b
const BRACE = 0x7b
