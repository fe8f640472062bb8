import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { t } from '../i18n/index.ts'

type State = { failed: boolean }

/** A page that breaks, or whose code is gone since the shop was updated, says so and offers a fresh start. */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { failed: false }

  static getDerivedStateFromError(): State {
    return { failed: true }
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <div className="wide page stack" role="alert" style={{ alignItems: 'flex-start' }}>
        <h1>{t('boundary.title')}</h1>
        <p className="dim">{t('boundary.body')}</p>
        <Button onClick={() => window.location.reload()}>{t('reload')}</Button>
      </div>
    )
  }
}
