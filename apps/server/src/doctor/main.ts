// npm run doctor: checks a configuration before the first start, and a shop later. It changes no data of the shop.
import { readConfig } from '../infra/config.ts'
import { environmentProblems } from '../infra/environment.ts'
import { StartupError } from '../infra/db/migrate.ts'
import { checkDatabase } from './database.ts'
import type { Finding } from './finding.ts'
import { checkMachine, checkPublicUrl } from './machine.ts'
import { checkShop, checkSmtp } from './services.ts'

const WORDS: Record<Finding['level'], string> = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' }
const counts: Record<Finding['level'], number> = { ok: 0, note: 0, wrong: 0 }

function say(findings: readonly Finding[]): void {
  for (const { level, text } of findings) {
    counts[level]++
    console.log(`${WORDS[level]} ${text}`)
  }
}

async function examine(): Promise<void> {
  await sayAll()
  console.log(`${counts.ok} checks passed, ${counts.note} notes, ${counts.wrong} wrong.`)
}

async function sayAll(): Promise<void> {
  const problems = environmentProblems(process.env)
  if (problems.length > 0) return say(problems.map(text => ({ level: 'wrong', text })))
  const config = readConfig(process.env)
  say([{ level: 'ok', text: 'The environment can be read.' }])
  say(await checkMachine(config))
  const { findings, isMigrated } = await checkDatabase(config)
  say(findings)
  if (isMigrated) say(await checkShop(config))
  say(await checkSmtp(config))
  say(await checkPublicUrl(config))
}

examine().then(
  () => process.exit(counts.wrong > 0 ? 1 : 0),
  (error: unknown) => {
    console.error(error instanceof StartupError ? error.message : error)
    process.exit(1)
  }
)
