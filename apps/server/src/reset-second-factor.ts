import { sentenceOf } from '@netlet/contract'
import { resetSecondFactorsOf } from './domains/accounts/index.ts'
import { sendMailQueue } from './domains/mail/index.ts'
import { openChangeFeed } from './infra/change-feed.ts'
import { systemClock } from './infra/clock.ts'
import { readConfig } from './infra/config.ts'
import { closeDatabase, openDatabase } from './infra/db/client.ts'
import { migrate, StartupError } from './infra/db/migrate.ts'
import { openJobs } from './infra/jobs.ts'
import { createLog } from './infra/log.ts'
import { createSecrets } from './infra/secrets.ts'

/** Removes the second factors of one user, for an owner who has lost the last device. Needs the shop's environment. */
async function reset(name: string): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog('netlet', config.logLevel)
  await migrate(config.sessionUrl)
  const db = openDatabase(config.sessionUrl, { max: 2 })
  const jobs = await openJobs({ db, listenUrl: null, log, queues: [sendMailQueue] })
  const changes = await openChangeFeed({ databaseUrl: config.sessionUrl, db, log })
  try {
    const secrets = createSecrets(config.appSecret, config.formerAppSecret)
    const done = await resetSecondFactorsOf({ config, db, jobs, log, now: systemClock, secrets, changes }, name)
    if (!done.ok) throw new StartupError(sentenceOf(done))
    console.log(`${name} no longer has a second factor. All sessions have ended, and the user gets an email.`)
  } finally {
    await jobs.stop()
    await changes.stop()
    await closeDatabase(db)
  }
}

const [name] = process.argv.slice(2)
if (!name) {
  console.error('Name the user: npm run reset-second-factor -- USERNAME')
  process.exit(2)
}
reset(name).catch((error: unknown) => {
  // As main.ts: a person fixes a configuration error with one line.
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
})
