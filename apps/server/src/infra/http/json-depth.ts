/** Of objects and lists in bodies. */
export const DEEPEST_JSON = 100

/**
 * Is JSON nested deeper than `most`? A deep value would overflow the stack of recursive code. No valid input is that
 * deep, so it is refused before it is parsed. Brackets in strings do not count.
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
/** Codes of `[` and `{`. Each closing bracket's code is greater by two. */
const BRACKET = 0x5b
const BRACE = 0x7b
