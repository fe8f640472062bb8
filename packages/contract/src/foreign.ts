import { z } from 'zod'

/** Text of another machine: at most `most` characters; the rest is replaced by '…'. */
export const foreignText = (most: number) =>
  z.string().transform(text => (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`))

/**
 * A list of another machine with at most `most` rows. It ends at the first wrong row: zod's own array would describe each
 * of them, which takes half a second for 64 kB of `{}`.
 */
export const foreignList = <S extends z.ZodType>(row: S, most: number) =>
  z
    .array(z.unknown())
    .max(most)
    .transform((rows, ctx): z.output<S>[] => {
      const read: z.output<S>[] = []
      for (const [at, one] of rows.entries()) {
        const parsed = row.safeParse(one)
        if (!parsed.success) {
          ctx.addIssue({ code: 'custom', message: `Row ${at} is invalid.` })
          return z.NEVER
        }
        read.push(parsed.data)
      }
      return read
    })
