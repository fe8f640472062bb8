/** Values for the placeholders of a sentence. */
export type Params = Readonly<Record<string, string | number>>

/** Only the English texts have plural forms. */
const rules = new Intl.PluralRules('en')

/**
 * Fills in a sentence: 'At most {max} characters' with `{ max: 9 }` is 'At most 9 characters'.
 * `{max|character|characters}` selects the plural form; a number formatted with separators is plural.
 */
export const fillIn = (sentence: string, params: Params = {}): string =>
  sentence.replace(/\{(\w+)(?:\|([^{|}]*)\|([^{|}]*))?\}/g, (whole, name: string, one?: string, other?: string) => {
    const value = params[name]
    if (value === undefined) return whole
    if (one === undefined) return String(value)
    return (rules.select(Number(value)) === 'one' ? one : other) ?? ''
  })
