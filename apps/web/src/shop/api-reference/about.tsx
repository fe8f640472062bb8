import type { Reference } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { Link } from 'react-router'
import { useT, type Key } from '../../i18n/reference.ts'
import { numberText } from '../../kit/number.ts'
import classes from './reference.module.css'

const STATUSES = [400, 401, 403, 404, 409, 413, 415, 429, 500] as const

/** What applies to all calls. */
export function About({ reference }: { reference: Reference }) {
  const t = useT()
  const parts: [Key, string][] = [
    ['limit', t('limit.body', { calls: reference.calls_a_minute })],
    ['paging', t('paging.body', { most: numberText(reference.most_rows) })],
    ['twice', t('twice.body')],
    ['forms', t('forms.body')]
  ]
  return (
    <>
      <p className="dim">{t('lead')}</p>
      <p className={`row baseline ${classes.line}`} style={{ gap: '0.3rem 0.7rem' }}>
        <code className="mono">{reference.url}</code>
        <a href="/api/docs/customer.json">{t('openapi')}</a>
      </p>
      <h2>{t('key')}</h2>
      <p>
        {t('key.body')} <Link to={pageAt('userSettings')}>{t('key.open')}</Link>
      </p>
      <h2>{t('scopes')}</h2>
      <dl>
        {API_KEY_SCOPES.map(scope => (
          <div key={scope} className={`row baseline ${classes.line}`} style={{ gap: '0.3rem 0.7rem' }}>
            <dt className="mono" style={{ color: 'inherit' }}>
              {scope}
            </dt>
            <dd>{t(`scope.${scope}`)}</dd>
          </div>
        ))}
      </dl>
      <h2>{t('answers')}</h2>
      <p>{t('answers.body')}</p>
      <div className={classes.table}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('status')}</th>
              <th scope="col">{t('meaning')}</th>
            </tr>
          </thead>
          <tbody>
            {STATUSES.map(status => (
              <tr key={status}>
                <td className="num">{status}</td>
                <td>{t(`error.${status}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {parts.map(([title, body]) => (
        <div key={title} className={classes.about}>
          <h2>{t(title)}</h2>
          <p>{body}</p>
        </div>
      ))}
    </>
  )
}
