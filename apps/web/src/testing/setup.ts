import { notifications, notificationsStore } from '@mantine/notifications'
import { onlineManager } from '@tanstack/react-query'
import { cleanup, configure } from '@testing-library/react'
import { afterEach, expect, vi } from 'vitest'
import { singleKeys } from '../admin/kit/single-keys.ts'
import { queryClient } from '../api/query.ts'
import { setLanguage } from '../i18n/language.ts'
import { resetAnswers, serve } from './answers.ts'
import { SilentEventSource } from './event-source.ts'
import { setWidth } from './render.tsx'

Object.assign(globalThis, {
  // React then reports every change that a test did not wait for.
  IS_REACT_ACT_ENVIRONMENT: true,
  fetch: serve,
  EventSource: SilentEventSource
})
// A loaded machine takes its time; what is there ends the waiting at once.
configure({ asyncUtilTimeout: 30_000 })

// A call is not repeated: the second answer would be the same.
const options = queryClient.getDefaultOptions()
queryClient.setDefaultOptions({ ...options, queries: { ...options.queries, retry: false } })

// All files share the loaded app, so each test leaves it as it was: a test restores nothing of this itself.
afterEach(async () => {
  vi.useRealTimers()
  // First: an effect that runs late still finds what the test has put in place.
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
