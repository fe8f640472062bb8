import type { SettingTest, SettingTestResult } from '@netlet/contract'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { useLanguage } from '../../i18n/language.ts'
import { momentText } from '../../kit/time.tsx'
import { WorkButton } from '../kit/index.ts'
import classes from './settings.module.css'

export function SettingTests({ tests }: { tests: readonly SettingTest[] }) {
  const t = useT()
  const { mayCall } = useMay()
  if (tests.length === 0 || !mayCall(settings.test)) return null
  return (
    <section
      className="card stack"
      style={{ gap: '0.6rem', padding: '1rem 1.25rem' }}
      aria-label={t('webSettings.testing')}
    >
      <p className="dim">{t('webSettings.testHint')}</p>
      {tests.map(test => (
        <OneTest key={test} test={test} />
      ))}
    </section>
  )
}

function OneTest({ test }: { test: SettingTest }) {
  const t = useT()
  const [running, setRunning] = useState(false)
  const [result, setResult] = useState<SettingTestResult | string | null>(null)
  const run = async () => {
    setRunning(true)
    setResult(null)
    try {
      setResult(await call(settings.test, { body: { test } }))
    } catch (error) {
      setResult(failureText(error))
    } finally {
      setRunning(false)
    }
  }
  return (
    <div className={`row ${classes.test}`} style={{ gap: '0.5rem 1rem' }}>
      <WorkButton variant="default" size="sm" working={running} onClick={() => void run()}>
        {`${t('webSettings.test')}: ${t(`webSettings.try.${test}`)}`}
      </WorkButton>
      <p role="status" data-ok={typeof result === 'object' && result?.ok}>
        {typeof result === 'string' ? result : result && <Found result={result} />}
      </p>
    </div>
  )
}

const INSTANTS = new Set(['at', 'refused', 'until'])

function Found({ result: { outcome, params, detail } }: { result: SettingTestResult }) {
  const t = useT()
  const language = useLanguage()
  const read = (name: string, value: string | number) =>
    INSTANTS.has(name) && typeof value === 'string' ? momentText(value, language) : value
  const shown = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, read(name, value)]))
  return (
    <>
      {t(`webSettings.found.${outcome}`, shown)}
      {detail && <span className="dim"> {detail}</span>}
    </>
  )
}
