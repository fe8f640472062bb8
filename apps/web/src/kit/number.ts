const formats = new Map<string, Intl.NumberFormat>()

/** Formatters are slow to create, and one page of a list writes a hundred numbers. */
function formatOf(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options])
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.NumberFormat(language, options)
  formats.set(key, made)
  return made
}

/** A number in the same format in every language: 65361 is '65,361'. */
export const numberText = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  formatOf('en-US', options).format(value)

/** A number with its unit in the current language: '1.5 hr', '30 days'. */
export const unitText = (
  value: number,
  language: string,
  options: Intl.NumberFormatOptions & { unit: string }
): string => formatOf(language, { style: 'unit', ...options }).format(value)
