/** What a sentence is about: put into it where it names them in braces. */
export type Params = Readonly<Record<string, string | number>>

/** Only the English texts have forms; one of another language would bring rules of its own. */
const rules = new Intl.PluralRules('en')

/**
 * 'At most {max} characters' with `{ max: 9 }` is 'At most 9 characters'. `{max|character|characters}` is the word that
 * goes with the number; a number that is written with separators is more than one.
 */
export const fillIn = (sentence: string, params: Params = {}): string =>
  sentence.replace(/\{(\w+)(?:\|([^{|}]*)\|([^{|}]*))?\}/g, (whole, name: string, one?: string, other?: string) => {
    const value = params[name]
    if (value === undefined) return whole
    if (one === undefined) return String(value)
    return (rules.select(Number(value)) === 'one' ? one : other) ?? ''
  })
