/** '1234.5' or '1234.50' → '$1,234.50'. The text is never turned into a binary fraction. */
export function money(amount: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount)
  if (!match) return `$${amount}`
  const [, sign = '', whole = '0', fraction = ''] = match
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}
