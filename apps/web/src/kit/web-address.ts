/** An http(s) address, or undefined. Prevents script URLs in links that administrators enter. */
export function webAddress(value: string | null | undefined): string | undefined {
  if (!value) return undefined
  const text = /^[a-z][a-z\d+.-]*:/i.test(value) ? value : `https://${value}`
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}
