import { Button } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'

type Props = { onTake: () => void; onKeep: () => void }

/** Somebody else has saved while something was typed. It takes no focus: it comes while somebody types. */
export function ChangedMeanwhile({ onTake, onKeep }: Props) {
  const t = useT()
  return (
    <div role="alert" className={classes.alert}>
      <p>{t('form.changedMeanwhile')}</p>
      <div className="row">
        <Button size="compact-sm" variant="default" onClick={onTake}>
          {t('form.takeTheirs')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onKeep}>
          {t('form.keepMine')}
        </Button>
      </div>
    </div>
  )
}
