import { expect, test } from 'vitest'
import { AGENT_SETTING_NAMES, AGENT_SETTINGS_FORMAT, fallbackOf, readSetting, takenBy } from './agent-settings.ts'

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

test('ports are single ones and ranges, in their sequence', () => {
  const read = (text: string) => readSetting('AGENT_ALLOW_PORTS', text)
  expect(read('80, 443\n8000-8999 1-1')).toEqual({ ok: true, value: '80,443,8000-8999,1' })
  for (const bad of ['0', '65536', '9-8', '1-65536', '0-5', '80-', '-80', '1-2-3', '1e3', '+5', '0x50', '80 - 90'])
    expect(read(bad), bad).toEqual({
      ok: false,
      problem: 'AGENT_ALLOW_PORTS must list port numbers and ranges like 8000-8999.'
    })
})

test('nothing that a shell would read otherwise comes through', () => {
  for (const name of AGENT_SETTING_NAMES)
    for (const text of ['$(id)', '`id`', '1;id', "1' x", '1\nAGENT_TOKEN=x', '1 # x', '../x']) {
      const read = readSetting(name, text)
      if (read.ok) expect(read.value).toMatch(/^[\w.,:/-]*$/)
    }
})

test('older agents ignore unknown names, and fail with ranges where they expect single ports', () => {
  const by = (format: number) => [
    takenBy(format, 'AGENT_WORKERS', '4'),
    takenBy(format, 'AGENT_UDP', 'off'),
    takenBy(format, 'AGENT_ALLOW_PORTS', '80-90'),
    takenBy(format, 'AGENT_DENY_PORTS', '25,80'),
    takenBy(format, 'AGENT_DENY_PORTS', '25,80-90')
  ]
  expect(by(1)).toEqual(['takes', 'ignores', 'ignores', 'takes', 'fails'])
  expect(by(2)).toEqual(['takes', 'takes', 'ignores', 'takes', 'fails'])
  for (const name of AGENT_SETTING_NAMES) expect(takenBy(AGENT_SETTINGS_FORMAT, name, '1-2'), name).toBe('takes')
})
