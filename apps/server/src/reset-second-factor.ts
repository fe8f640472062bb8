import { sentenceOf } from '@netlet/contract'
import { resetSecondFactorsOf } from './domains/accounts/index.ts'
import { readConfig } from './infra/config.ts'
import { StartupError } from './infra/db/migrate.ts'
import { openApp } from './open-app.ts'

/** Removes the second factors of one user, for an owner who has lost the last device. Needs the shop's environment. */
async function reset(name: string): Promise<void> {
  const { ctx, close } = await openApp(readConfig(process.env), { worker: false, serves: false })
  try {
    const done = await resetSecondFactorsOf(ctx, name)
    if (!done.ok) throw new StartupError(sentenceOf(done))
    console.log(`${name} has no second factor any more. All sessions have ended, and a mail says so.`)
  } finally {
    await close()
  }
}

const [name] = process.argv.slice(2)
if (!name) {
  console.error('Say whose second factors to remove: npm run reset-second-factor -- USERNAME')
  process.exit(2)
}
reset(name).catch((error: unknown) => {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
})
