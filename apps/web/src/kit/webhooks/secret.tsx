import { Button } from '@mantine/core'
import { useT } from '../../i18n/account.ts'
import { CopyButton } from '../copy-button.tsx'
import classes from './webhooks.module.css'

/** A secret that was just made: no later reply tells it again. */
export function NewSecret({ secret, rotated, onDone }: { secret: string; rotated: boolean; onDone: () => void }) {
  const t = useT()
  return (
    <div className={classes.made} role="status">
      <p>{t(rotated ? 'hooks.onceAgain' : 'hooks.once')}</p>
      <code className="mono">{secret}</code>
      <div className="row">
        <CopyButton text={secret} name={t('hooks.secret')} size="sm" variant="filled" />
        <Button variant="default" onClick={onDone}>
          {t('keys.done')}
        </Button>
      </div>
    </div>
  )
}
