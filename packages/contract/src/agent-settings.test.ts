import { expect, test } from 'vitest'
import { AGENT_SETTING_NAMES, fallbackOf, readSetting } from './agent-settings.ts'

test('what each setting is by itself is read as what it is', () => {
  for (const name of AGENT_SETTING_NAMES)
    expect(readSetting(name, fallbackOf(name))).toEqual({ ok: true, value: fallbackOf(name) })
})

test('lists are read from lines and commas, in one form, and a word empties them', () => {
  const read = (text: string) => readSetting('AGENT_DENY_PORTS', text)
  expect(read(' 25\n465,, 25 ')).toEqual({ ok: true, value: '25,465' })
  expect(read('none')).toEqual({ ok: true, value: '' })
  expect(read('25,x').ok).toBe(false)
  expect(read('1,'.repeat(6000)).ok).toBe(false)
})

test('nothing that a shell would read otherwise comes through', () => {
  for (const name of AGENT_SETTING_NAMES)
    for (const text of ['$(id)', '`id`', '1;id', "1' x", '1\nAGENT_TOKEN=x', '1 # x', '../x']) {
      const read = readSetting(name, text)
      if (read.ok) expect(read.value).toMatch(/^[\w.,:/]*$/)
    }
})
