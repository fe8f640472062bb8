import { notifications, notificationsStore } from '@mantine/notifications'
import { onlineManager } from '@tanstack/react-query'
import { cleanup, configure } from '@testing-library/react'
import * as React from 'react'
import { afterEach, expect, vi } from 'vitest'
import { singleKeys } from '../admin/kit/keyboard.ts'
import { queryClient } from '../api/query.ts'
import { setLanguage } from '../i18n/language.ts'
import { resetAnswers, serve } from './answers.ts'
import { SilentEventSource } from './event-source.ts'
import { setWidth } from './render.tsx'

Object.assign(globalThis, {
  // Makes React report every update that a test did not await.
  IS_REACT_ACT_ENVIRONMENT: true,
  fetch: serve,
  EventSource: SilentEventSource
})
// React keeps a stack of each element that it makes, for its warnings. That takes a tenth of the tests' time.
const internals = Reflect.get(React, '__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE') as object
Object.defineProperty(internals, 'recentlyCreatedOwnerStacks', {
  configurable: true,
  get: () => Infinity,
  set: () => {}
})

// A timeout for slow machines. Waiting ends as soon as the element appears.
configure({ asyncUtilTimeout: 30_000 })

// The code of messages, so that a test's message does not load it while the next test runs.
await Promise.all([import('../kit/show-toast.tsx'), import('../kit/toaster.tsx')])

// Without retries: the second answer would be the same.
const options = queryClient.getDefaultOptions()
queryClient.setDefaultOptions({ ...options, queries: { ...options.queries, retry: false } })

// All test files share the loaded app, so every test resets it here. Tests need no cleanup of their own.
afterEach(async () => {
  vi.useRealTimers()
  // First, so that late effects still see the test's mocks and answers.
  cleanup()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  const { notifications: shown, queue } = notificationsStore.getState()
  for (const { id } of [...shown, ...queue]) if (id) notifications.hide(id)
  onlineManager.setOnline(true)
  singleKeys.set(true)
  queryClient.clear()
  setWidth(1280)
  window.history.replaceState(null, '', '/')
  await setLanguage('en')
  localStorage.clear()
  sessionStorage.clear()
  expect(resetAnswers(), 'calls without an answer').toEqual([])
})
