import { createTransport } from 'nodemailer'
import { testPlatform } from '../domains/commerce/index.ts'
import { mailIsSetUp } from '../domains/mail/index.ts'
import { opensSecrets, readSettings } from '../domains/settings/index.ts'
import { openChangeFeed } from '../infra/change-feed.ts'
import { systemClock } from '../infra/clock.ts'
import type { Config } from '../infra/config.ts'
import { closeDatabase, openDatabase } from '../infra/db/client.ts'
import { openJobs } from '../infra/jobs.ts'
import { createLog } from '../infra/log.ts'
import { createSecrets } from '../infra/secrets.ts'
import { reasonOf } from '../infra/text.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const ANSWER_MS = 10_000

/** What a shop that has its tables knows: whether its secrets open, and whether platform and mail work. */
export async function checkShop(config: Config): Promise<Finding[]> {
  const log = createLog('doctor', 'silent')
  const db = openDatabase(config.sessionUrl, { max: 2 })
  try {
    const secrets = createSecrets(config.appSecret)
    if (!(await opensSecrets(db, secrets)))
      return [wrong('APP_SECRET does not match this database. Set the one that encrypted its secrets.')]
    const jobs = await openJobs({ db, listenUrl: null, log, queues: [] })
    const changes = await openChangeFeed({ databaseUrl: config.sessionUrl, db, log })
    try {
      const tested = await testPlatform({ config, db, jobs, log, now: systemClock, secrets, changes })
      const isSetUp = mailIsSetUp(await readSettings(db, secrets), config)
      return [
        fine('APP_SECRET decrypts the secrets of the database.'),
        platformFinding(tested),
        isSetUp
          ? fine('An email service is set up. To send a test, open Web Settings, Email.')
          : note('No email service is set up. Enter one under Web Settings, Email, or set SMTP_URL.')
      ]
    } finally {
      await changes.stop()
      await jobs.stop()
    }
  } catch (error) {
    return [wrong(`The shop's settings could not be read: ${reasonOf(error)}.`)]
  } finally {
    await closeDatabase(db)
  }
}

function platformFinding({ ok, outcome, params, detail }: Awaited<ReturnType<typeof testPlatform>>): Finding {
  if (outcome === 'not_configured') return note('The platform is not set up. Enter it under Web Settings, Shopify.')
  if (ok) return fine(`The platform responds${params['name'] === undefined ? '' : ` as ${params['name']}`}.`)
  if (outcome === 'platform_scopes') return wrong(`The platform's app lacks scopes: ${params['scopes']}.`)
  return wrong(`The platform does not work: ${detail ?? outcome}. Check Web Settings, Shopify.`)
}

/** Signs in at the mail server of SMTP_URL, and sends nothing. */
export async function checkSmtp({ smtpUrl }: Pick<Config, 'smtpUrl'>): Promise<Finding[]> {
  if (smtpUrl === undefined) return []
  const url = new URL(smtpUrl)
  const secure = url.protocol === 'smtps:'
  const auth = url.username
    ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }
    : {}
  const transport = createTransport({
    host: url.hostname,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && url.username !== '',
    ...auth,
    connectionTimeout: ANSWER_MS,
    greetingTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS
  })
  try {
    await transport.verify()
    return [fine(`The email server ${url.host} responds and accepts the login.`)]
  } catch (error) {
    return [wrong(`The email server of SMTP_URL does not work: ${reasonOf(error)}.`)]
  } finally {
    transport.close()
  }
}
