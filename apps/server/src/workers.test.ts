import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allJobs } from './workers.ts'

test('queues that customers wait for have workers that nothing else can take', () => {
  const names = allJobs.map(({ queue }) => queue.name)
  expect(new Set(names).size).toBe(names.length)
  const mail = allJobs.find(({ queue }) => queue.name === 'send-mail')
  expect(mail?.reserved).toBeGreaterThanOrEqual(1)
})

test('each has a name and is described in the words of the console, in both languages', () => {
  const words = (language: string) =>
    JSON.parse(readFileSync(new URL(`../../web/src/i18n/admin.${language}.json`, import.meta.url), 'utf8')) as Record<
      string,
      string
    >
  const [english, chinese] = [words('en'), words('zh-CN')]
  for (const { queue, purpose } of allJobs) {
    const key = `tasks.purpose.${queue.name}`
    expect(english[key], key).toBe(purpose)
    expect(chinese[key], key).toMatch(/\p{Script=Han}/u)
    const name = `tasks.name.${queue.name}`
    expect(english[name], name).toMatch(/^[A-Z][^.]+$/)
    expect(chinese[name], name).toMatch(/\p{Script=Han}/u)
  }
  for (const kind of ['purpose', 'name']) {
    const worded = Object.keys(english).filter(key => key.startsWith(`tasks.${kind}.`))
    expect(worded.toSorted()).toEqual(allJobs.map(({ queue }) => `tasks.${kind}.${queue.name}`).toSorted())
  }
  const names = allJobs.map(({ queue }) => english[`tasks.name.${queue.name}`])
  expect(new Set(names).size).toBe(names.length)
})
