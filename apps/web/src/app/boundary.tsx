import { Button } from '@mantine/core'
import { Component, useEffect, useState, type ReactNode } from 'react'
import { useT } from '../i18n/index.ts'
import { useOnline } from '../kit/use-online.ts'
import { CodeError } from './lazy-page.ts'

/** Milliseconds within which a reachable shop answers. */
const PATIENCE = 10_000

type Props = {
  children: ReactNode
  /** The page already has a heading. */
  within?: boolean
}
type State = { failure: { error: unknown } | null }

/** Shows a failed page in its place with a button to retry. The frame around it stays. */
export class Boundary extends Component<Props, State> {
  override state: State = { failure: null }

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } }
  }

  override render() {
    const { within = false, children } = this.props
    if (!this.state.failure) return children
    const { error } = this.state.failure
    if (!(error instanceof CodeError)) return <Broken within={within} />
    const retry = () => {
      error.again()
      this.setState({ failure: null })
    }
    return <Missing within={within} onRetry={retry} />
  }
}

type MessageProps = { within: boolean; title: string; body: string; children: ReactNode }

function Message({ within, title, body, children }: MessageProps) {
  const Heading = within ? 'h2' : 'h1'
  return (
    <div className={within ? 'stack' : 'wide page stack'} role="alert" style={{ alignItems: 'flex-start' }}>
      <Heading>{title}</Heading>
      <p className="dim">{body}</p>
      {children}
    </div>
  )
}

function Broken({ within }: { within: boolean }) {
  const t = useT()
  return (
    <Message within={within} title={t('boundary.title')} body={t('boundary.body')}>
      <Button onClick={() => window.location.reload()}>{t('reload')}</Button>
    </Message>
  )
}

/**
 * The page's code did not load. Offline, it is retried on request and when the connection returns. Online, only a full
 * reload helps, because browsers cache a module's failure. We reload only if the shop answers, so that the user does
 * not end up on the browser's own error page.
 */
function Missing({ within, onRetry }: { within: boolean; onRetry: () => void }) {
  const t = useT()
  const online = useOnline()
  const [was] = useState(online)
  const [asking, setAsking] = useState(false)
  useEffect(() => {
    if (online && !was) onRetry()
  }, [online, was, onRetry])
  const reload = async () => {
    setAsking(true)
    const answers = await fetch('/boot.js', {
      method: 'HEAD',
      cache: 'no-store',
      signal: AbortSignal.timeout(PATIENCE)
    }).then(
      reply => reply.ok,
      () => false
    )
    setAsking(false)
    if (answers) window.location.reload()
  }
  return (
    <Message
      within={within}
      title={t(online ? 'boundary.missing' : 'offline.title')}
      body={t(online ? 'boundary.missingHint' : 'offline.page')}
    >
      <Button loading={asking} onClick={() => (was ? void reload() : onRetry())}>
        {t('retry')}
      </Button>
    </Message>
  )
}
