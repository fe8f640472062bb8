import { Button } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Moment } from '../../kit/time.tsx'
import type { HandleName } from './handles.ts'
import classes from './servers.module.css'

/** An answer from the agent, or from the shop on its behalf. */
export type Output = { handle: HandleName; at: Date; failed: boolean; text: string }

/** The raw response of the last handle. */
export function OutputPanel({ output, onClear }: { output: Output | null; onClear: () => void }) {
  const t = useT()
  return (
    <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('manage.output')}>
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <h3 className="size-body">{t('manage.output')}</h3>
        {output && (
          <span className="row inline" style={{ gap: '0.5rem 1rem' }}>
            <CopyButton text={output.text} variant="default" size="compact-sm" />
            <Button size="compact-sm" variant="default" onClick={onClear}>
              {t('manage.clear')}
            </Button>
          </span>
        )}
      </div>
      <div role="status">
        {output ? (
          <>
            <p className={output.failed ? classes.trouble : 'dim size-table'}>
              <span className="mono">{output.handle}</span> · <Moment at={output.at.toISOString()} />
            </p>
            <pre className={classes.output} tabIndex={0}>
              {output.text}
            </pre>
          </>
        ) : (
          <p className="dim">{t('manage.noOutput')}</p>
        )}
      </div>
    </section>
  )
}
