import type { Health } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'

type Sections = Omit<Health, 'at'>

/** What the health page needs of higher domains. */
export type HealthPorts = {
  /** Each reads its own section; one that fails does not keep the others from being shown. */
  sections: { [S in keyof Sections]: () => Promise<NonNullable<Sections[S]>> }
  /** Looks at the platform at once. What goes wrong is part of what the sections tell. */
  refresh: () => Promise<void>
}

/** How everything is doing, section by section. */
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
