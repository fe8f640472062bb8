import { Button } from '@mantine/core'
import { Component, useEffect, useState, type ReactNode } from 'react'
import { useT } from '../i18n/index.ts'
import { useOnline } from '../kit/use-online.ts'
import { CodeError } from './lazy-page.ts'

/** Milliseconds in which a shop that can be reached answers. */
const PATIENCE = 10_000

type Props = {
  children: ReactNode
  /** In a page that has a heading of its own. */
  within?: boolean
}
type State = { failure: { error: unknown } | null }

/** A page that breaks, or whose code does not come, says so in its place and offers to try again; what is around it stays. */
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
 * The page's code did not come. Without a connection it is tried again when asked to, and by itself when there is one. With
 * one, only the whole page can be loaded again, since browsers keep a module's failure; that is done where the shop answers,
 * so that nobody loses what is there for the browser's own page of errors.
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
