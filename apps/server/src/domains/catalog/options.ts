import { asc, eq } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type Field, productOptions } from './tables.ts'

/** What customers choose by, in the sequence of a variant's `option1` to `option3`: 'Location' with its values. */
type Option = { name: string; values: string[] }

/** More than these have no column. */
const MOST = 3

/** Replaces a product's options. A product without options has none. */
export async function setOptions(tx: Executor, productId: number, options: readonly Option[]): Promise<void> {
  await tx.delete(productOptions).where(eq(productOptions.productId, productId))
  if (options.length > 0)
    await tx
      .insert(productOptions)
      .values(options.map(({ name, values }, at) => ({ productId, position: at + 1, name, values })))
}

/**
 * Follows the platform's names and sequence of options and values: they label the values of the product's variants,
 * which follow too. An event without options does not tell.
 * @returns whether any changed
 */
export async function updateOptions(tx: Executor, productId: number, reported: readonly Option[]): Promise<boolean> {
  const known = await tx
    .select({ name: productOptions.name, values: productOptions.values })
    .from(productOptions)
    .where(eq(productOptions.productId, productId))
    .orderBy(asc(productOptions.position))
  const options = reported.slice(0, MOST).map(({ name, values }) => ({ name, values }))
  if (options.length === 0 || JSON.stringify(known) === JSON.stringify(options)) return false
  await setOptions(tx, productId, options)
  return true
}

/** A product's options as fields of a snapshot, by their positions. */
export const optionFields = (rows: readonly (typeof productOptions.$inferSelect)[]): Record<string, Field> =>
  Object.fromEntries(rows.map(({ position, name, values }) => [position, [name, ...values]]))

/** The options in such fields; null: none. */
export const optionsIn = (fields: Record<string, Field> | null): Option[] =>
  Array.from({ length: MOST }, (_, at) => fields?.[at + 1]).flatMap(field => {
    const [name, ...values] = Array.isArray(field) ? field : []
    return name === undefined ? [] : [{ name, values }]
  })
