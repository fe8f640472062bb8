import '../../kit/styles/forms.ts'
import type { CertificateSeen, ProxyTls, ProxyTlsCheck, ProxyTlsSource, Server } from '@netlet/contract'
import { Button, FileButton, NativeSelect, Skeleton, Textarea, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { queryClient, read, refresh } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { failureText, fieldTexts, wordsOf } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { hostPort } from '../../kit/host-port.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { SECRET_KEPT } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { momentText } from '../../kit/time.tsx'
import { UndecidedClashes, useMergingForm, UnavailableHint, WorkButton } from '../kit/index.ts'
import classes from './servers.module.css'

const SOURCES = ['none', 'pasted', 'files'] as const satisfies readonly ProxyTlsSource[]
/** Days before the end from which it needs attention, as in the operators' notice. */
const SOON = 14

/** The TLS settings of a server's `https://` proxies. */
export function ProxyTlsPanel({ server }: { server: Server }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(fleet.proxyTls, { params: { id: server.id } }))
  return (
    <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('proxyTls.title')}>
      <h3 className="size-body">{t('proxyTls.title')}</h3>
      <p className="dim">{t('proxyTls.lead', { port: String(server.proxy_port) })}</p>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <>
          <Shown tls={data} />
          <Check server={server} />
          <Form server={server} data={data} />
        </>
      ) : (
        <Skeleton height={200} />
      )}
    </section>
  )
}

/** The result of the settings, and the certificate that clients see. */
function Shown({ tls: { state, reason, params, msg, shown } }: { tls: ProxyTls }) {
  const t = useT()
  const language = useLanguage()
  const isEnding = shown !== null && shown.days_left < SOON
  return (
    <div className={`stack start num unbroken ${classes.figures}`} style={{ gap: 0 }}>
      <span
        className={state === 'refused' ? classes.trouble : undefined}
        role={state === 'refused' ? 'alert' : undefined}
      >
        {state === 'refused' && reason !== null
          ? t('proxyTls.refused', { why: wordsOf(reason, params) ?? msg ?? reason })
          : t(`proxyTls.state.${state}`)}
      </span>
      {shown === null ? (
        <span className="dim size-table">{t('proxyTls.notShown')}</span>
      ) : (
        <>
          <span className={isEnding ? classes.trouble : 'dim size-table'}>
            {shown.days_left < 0
              ? t('proxyTls.ended', { day: momentText(shown.ends_at, language) })
              : t('proxyTls.daysLeft', {
                  count: numberText(shown.days_left),
                  day: momentText(shown.ends_at, language)
                })}
          </span>
          <span className="dim size-table">
            {t('proxyTls.names')}: <span className="mono">{shown.names.join(', ') || '–'}</span>
          </span>
        </>
      )}
    </div>
  )
}

/** Connects from outside as a client and shows what it sees. */
function Check({ server }: { server: Server }) {
  const t = useT()
  const [found, setFound] = useState<ProxyTlsCheck | null>(null)
  const [working, setWorking] = useState(false)
  if (!useMay().mayCall(fleet.checkProxyTls)) return null
  const look = async () => {
    setWorking(true)
    try {
      setFound(await call(fleet.checkProxyTls, { params: { id: server.id }, body: {} }))
    } catch (error) {
      notify('bad', failureText(error))
    } finally {
      setWorking(false)
    }
  }
  return (
    <div className="stack">
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <WorkButton size="sm" variant="default" working={working} onClick={() => void look()}>
          {t('proxyTls.check')}
        </WorkButton>
      </div>
      {found && <Findings found={found} />}
    </div>
  )
}

function Findings({ found: { address, port, host, leads, findings, seen } }: { found: ProxyTlsCheck }) {
  const t = useT()
  const params = { host: host || '–', address: address && hostPort(address, port), leads: leads.join(', ') || '–' }
  return (
    <div
      role="status"
      aria-label={t('proxyTls.check')}
      className={`stack start num unbroken ${classes.figures}`}
      style={{ gap: 0 }}
    >
      {findings.length === 0 ? (
        <span>{t('proxyTls.fine', params)}</span>
      ) : (
        findings.map(one => (
          <span key={one} className={classes.trouble}>
            {t(`proxyTls.found.${one}`, params)}
          </span>
        ))
      )}
      {seen && <Certificate seen={seen} />}
    </div>
  )
}

function Certificate({ seen: { names, issuer, ends_at, fingerprint } }: { seen: CertificateSeen }) {
  const t = useT()
  const language = useLanguage()
  return (
    <>
      <span className="dim size-table">
        {t('proxyTls.names')}: <span className="mono">{names.join(', ') || '–'}</span>
      </span>
      <span className="dim size-table">{t('proxyTls.issuer', { issuer, day: momentText(ends_at, language) })}</span>
      <span className={`mono ${classes.fingerprint}`}>{t('servers.fingerprint', { fingerprint })}</span>
    </>
  )
}

type Texts = { certificate: string; key: string; certificate_file: string; key_file: string }
type Values = Texts & { source: ProxyTls['source'] }

/** The stored certificate and key are not sent to us; empty means unchanged. */
const valuesOf = ({ source, certificate_file, key_file }: ProxyTls): Values => ({
  source,
  certificate: '',
  key: '',
  certificate_file,
  key_file
})

/** The fingerprint identifies the stored certificate for comparison. */
const toldOf = (tls: ProxyTls): Values => {
  const stored = tls.certificate?.fingerprint ?? ''
  return { ...valuesOf(tls), certificate: stored, key: stored }
}

function Form({ server, data }: { server: Server; data: ProxyTls }) {
  const t = useT()
  const { base, values, dirty, change, take, meanwhile } = useMergingForm(data, {
    name: `proxy-tls-${server.id}`,
    // Manage and the list share a path, so the parameter tells them apart.
    param: { name: 'detail', value: String(server.id) },
    valuesOf,
    toldOf,
    isSecret: name => name === 'key'
  })
  const { source, ...texts } = values
  const [errors, setErrors] = useState<Partial<Record<string, string>>>({})
  const [working, setWorking] = useState(false)
  const canChange = useMay().mayCall(fleet.setProxyTls)
  const save = async (wanted: ProxyTlsSource) => {
    if (
      wanted === 'none' &&
      !(await confirm({ title: t('proxyTls.offTitle'), body: t('proxyTls.offBody'), danger: true }))
    )
      return
    setWorking(true)
    setErrors({})
    try {
      const saved = await call(fleet.setProxyTls, {
        params: { id: server.id },
        body: { source: wanted, ...texts, version: base.version }
      })
      // Take the saved answer as the base, so that it counts neither as our change nor as another user's.
      queryClient.setQueryData(read(fleet.proxyTls, { params: { id: server.id } }).queryKey, saved)
      take(saved)
      notify('good', t('proxyTls.saved'))
      await refresh(fleet.proxyTls, fleet.server)
    } catch (error) {
      setErrors(fieldTexts(error))
      notify('bad', failureText(error))
      if (error instanceof ApiError && error.refusal.reason === 'stale') await refresh(fleet.proxyTls)
    } finally {
      setWorking(false)
    }
  }
  const field = (name: keyof Texts) => ({
    label: t(`proxyTls.${name}`),
    value: texts[name],
    readOnly: !canChange,
    error: errors[name],
    spellCheck: false,
    autoComplete: 'off',
    classNames: { input: 'mono' },
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value })
  })
  const upload = (name: 'certificate' | 'key') => (
    <FileButton
      accept=".pem,.crt,.cer,.key,.txt"
      inputProps={{ 'aria-label': t('proxyTls.uploadOf', { field: t(`proxyTls.${name}`) }) }}
      onChange={file => void file?.text().then(text => change({ [name]: text.trim() }))}
    >
      {props => (
        <Button {...props} size="compact-sm" variant="default" leftSection={<IconUpload size={16} aria-hidden />}>
          {t('proxyTls.uploadOf', { field: t(`proxyTls.${name}`) })}
        </Button>
      )}
    </FileButton>
  )
  return (
    <div className="stack">
      <NativeSelect
        label={t('proxyTls.source')}
        description={source === 'unset' ? t('proxyTls.help.unset') : t(`proxyTls.help.${source}`)}
        value={source}
        disabled={!canChange}
        onChange={event => {
          const { value } = event.currentTarget
          change({ source: SOURCES.find(one => one === value) ?? base.source })
        }}
        data={[...(base.source === 'unset' ? (['unset'] as const) : []), ...SOURCES].map(value => ({
          value,
          label: t(`proxyTls.source.${value}`)
        }))}
      />
      {source === 'pasted' && (
        <>
          {data.certificate && (
            <div className={`stack start num unbroken ${classes.figures}`} style={{ gap: 0 }}>
              <span>{t('proxyTls.stored')}</span>
              <Certificate seen={data.certificate} />
            </div>
          )}
          <Textarea {...field('certificate')} rows={6} placeholder="-----BEGIN CERTIFICATE-----" />
          <Textarea
            {...field('key')}
            rows={4}
            placeholder="-----BEGIN PRIVATE KEY-----"
            description={data.certificate ? t('proxyTls.keyStored') : t('proxyTls.keyHelp')}
          />
          {canChange && (
            <div className="row" style={{ gap: '0.5rem 1rem' }}>
              {upload('certificate')}
              {upload('key')}
            </div>
          )}
        </>
      )}
      {source === 'files' && (
        <>
          <TextInput
            {...field('certificate_file')}
            placeholder="/etc/letsencrypt/live/proxy.example.com/fullchain.pem"
          />
          <TextInput {...field('key_file')} placeholder="/etc/letsencrypt/live/proxy.example.com/privkey.pem" />
        </>
      )}
      {meanwhile && (
        <UndecidedClashes
          {...meanwhile}
          labelOf={([name]) => t(`proxyTls.${name as keyof Values}`)}
          told={([name], value) =>
            name === 'source'
              ? t(`proxyTls.source.${value as ProxyTls['source']}`)
              : name === 'key' && value !== data.certificate?.fingerprint
                ? SECRET_KEPT
                : String(value)
          }
        />
      )}
      {canChange && (
        <div className="row" style={{ gap: '0.5rem 1rem' }}>
          <UnavailableHint why={dirty ? undefined : t('proxyTls.nothing')}>
            <WorkButton size="sm" working={working} onClick={() => source !== 'unset' && void save(source)}>
              {t('proxyTls.save')}
            </WorkButton>
          </UnavailableHint>
        </div>
      )}
    </div>
  )
}
