import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { mail } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ErrorState } from '../../kit/states.tsx'
import { useAddress } from '../../kit/use-address.ts'
import classes from './mails.module.css'

/** Every template in each language, filled with sample data. */
export function Previews() {
  const t = useT()
  const language = useLanguage()
  const { data, error, refetch } = useQuery(read(mail.templates))
  const { query, change } = useAddress()
  const chosen = query.get('template')
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  const keyOf = (one: { template: string; language: string }) => `${one.template} ${one.language}`
  const shown = data?.find(one => keyOf(one) === chosen) ?? data?.find(one => one.language === language)
  return (
    <div className={classes.previews}>
      <ul className={classes.templates} aria-label={t('mails.preview')}>
        {data?.map(one => (
          <li key={keyOf(one)}>
            <button
              type="button"
              aria-pressed={one === shown}
              onClick={() => change({ template: keyOf(one) }, { push: true })}
            >
              <span>{one.subject}</span>
              <span className="dim mono">{keyOf(one)}</span>
              <span className="dim">{t(`mails.kindOf.${one.kind}`)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown && (
        // Sandboxed without scripts, forms or our origin, because templates contain customers' input.
        <iframe
          className={classes.frame}
          sandbox=""
          srcDoc={shown.html}
          title={t('mails.previewOf', { template: keyOf(shown) })}
        />
      )}
    </div>
  )
}
