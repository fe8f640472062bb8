import type { SenderCheck } from '@netlet/contract'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { mail } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { WorkButton, type T } from '../kit/index.ts'
import classes from './settings.module.css'

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
        {typeof result === 'string' ? result : result && <Found of={result} />}
      </div>
    </section>
  )
}

function Found({ of: check }: { of: SenderCheck }) {
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
