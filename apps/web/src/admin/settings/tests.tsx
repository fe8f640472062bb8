import type { SenderCheck, SettingTest, SettingTestResult } from '@netlet/contract'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { mail, settings } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { useLanguage } from '../../i18n/language.ts'
import { momentText } from '../../kit/time.tsx'
import { type T, WorkButton } from '../kit/index.ts'
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

const RECORDS = ['spf', 'dkim', 'dmarc'] as const

/** Checks the sending domain's DNS and lists missing records. */
export function SenderDomain() {
  const t = useT()
  const [running, setRunning] = useState(false)
  const [result, setResult] = useState<SenderCheck | string | null>(null)
  const run = async () => {
    setRunning(true)
    try {
      setResult(await call(mail.senderCheck))
    } catch (error) {
      setResult(failureText(error))
    } finally {
      setRunning(false)
    }
  }
  return (
    <section className="card stack" style={{ gap: '0.6rem', padding: '1rem 1.25rem' }} aria-labelledby="sender-domain">
      <h2 id="sender-domain">{t('senderCheck.title')}</h2>
      <p className="dim">{t('senderCheck.hint')}</p>
      <div>
        <WorkButton variant="default" size="sm" working={running} onClick={() => void run()}>
          {t(result === null ? 'senderCheck.run' : 'senderCheck.again')}
        </WorkButton>
      </div>
      <div role="status" className={classes.senderCheck}>
        {typeof result === 'string' ? result : result && <Records of={result} />}
      </div>
    </section>
  )
}

function Records({ of: check }: { of: SenderCheck }) {
  const t = useT()
  return (
    <>
      <p>{t('senderCheck.of', { domain: check.domain })}</p>
      <dl>
        {RECORDS.map(record => {
          const { state, name, found } = check[record]
          return (
            <div key={record} data-state={state}>
              <dt className="strong" style={{ color: 'inherit' }}>
                {record.toUpperCase()} <strong>{t(`senderCheck.is.${state}`)}</strong>
              </dt>
              <dd>
                <code>{name}</code>
                <pre>{found ?? t('senderCheck.nothing')}</pre>
                {state !== 'ok' && state !== 'unknown' && <p className="dim">{adviceOf(t, record, check)}</p>}
              </dd>
            </div>
          )
        })}
      </dl>
    </>
  )
}

function adviceOf(t: T, record: (typeof RECORDS)[number], { include }: SenderCheck): string {
  return record === 'spf' && include ? t('senderCheck.do.spfInclude', { include }) : t(`senderCheck.do.${record}`)
}
