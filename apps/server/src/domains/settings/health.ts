import type { Health } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'

type Sections = Omit<Health, 'at'>

/** What the health page needs from higher domains. */
export type HealthPorts = {
  /** Each section is read on its own, so that a failing one does not hide the others. */
  sections: { [S in keyof Sections]: () => Promise<NonNullable<Sections[S]>> }
  /** Checks the platform now. The sections report failures. */
  refresh: () => Promise<void>
}

export async function readHealth(ctx: Pick<AppContext, 'now' | 'log'>, { sections }: HealthPorts): Promise<Health> {
  const read = await Promise.all(
    Object.entries(sections).map(async ([name, section]) => [
      name,
      await section().catch((error: unknown) => {
        ctx.log.error({ err: error, section: name }, 'a section of the health page cannot be read')
        return null
      })
    ])
  )
  return { at: ctx.now().toISOString(), ...(Object.fromEntries(read) as Sections) }
}
