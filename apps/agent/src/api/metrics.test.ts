import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'
import { expect, test } from 'vitest'
import { noFigures } from '../proxy/plane-figures.ts'
import { metricsText } from './metrics.ts'

test('metrics name the same refusals and errors as the console, and count faults', () => {
  const codes = [...AGENT_REFUSALS, ...AGENT_ERRORS]
  const outcomes = Object.fromEntries(['ok', ...codes].map((code, n) => [code, n + 1]))
  const none = { pid: 1, delay: { median: 0, p99: 0, longest: 0 }, isSlow: false, handles: { used: 0, limit: 0 } }
  const text = metricsText({
    figures: { plane: { ...noFigures(), outcomes, faults: 7 }, processes: [], restarts: 0 },
    load: { up: 0, down: 0, requests: 0, errors: 0, connections: 0 },
    workers: { now: 1, wanted: 1 },
    manager: none,
    users: 0,
    prefixes: 0,
    journalBytes: 0,
    portsPerAddress: 0,
    certificates: { api: null, proxy: null },
    program: {
      program_version: '1',
      program_path: '/agent',
      takeover_format: 1,
      settings_format: 1,
      program_started_at: '2026-01-01T00:00:00Z',
      draining: [],
      takeover: { state: 'none', reason: null, at: null }
    }
  })
  const told = (label: string): string[] =>
    [...text.matchAll(new RegExp(`_total\\{${label}="([^"]+)"\\} \\d+$`, 'gm'))].map(([, code]) => code ?? '')
  expect(told('reason').toSorted()).toEqual([...AGENT_REFUSALS].toSorted())
  expect(told('kind').toSorted()).toEqual([...AGENT_ERRORS].toSorted())
  expect(text).toContain('\nnetlet_agent_faults_total 7\n')
  expect(text).toContain(`{reason="no-auth"} ${outcomes['no-auth']}\n`)
})
