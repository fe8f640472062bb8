import { act, render, screen } from '@testing-library/react'
import { startTransition, Suspense, useMemo } from 'react'
import { expect, it } from 'vitest'
import { setLanguage } from './language.ts'
import { wordList } from './words.ts'

it('goes on with a component whose words came while it waited for them', async () => {
  await setLanguage('zh-CN')
  // Created after the language was chosen, like the list of a lazy page.
  const { useT } = wordList({ hello: 'Hello' }, { 'zh-CN': () => Promise.resolve({ default: { hello: '你好' } }) })
  function Greeting({ name }: { name: string }) {
    const t = useT()
    const words = useMemo(() => `${t('hello')}, ${name}`, [t, name])
    return <p>{words}</p>
  }
  const { rerender } = render(<Suspense>Before</Suspense>)
  // In a transition React keeps the suspended component and resumes it.
  await act(async () => {
    startTransition(() =>
      rerender(
        <Suspense>
          <Greeting name="demo1" />
        </Suspense>
      )
    )
    await Promise.resolve()
  })
  expect(screen.getByText('你好, demo1')).toBeTruthy()
})
