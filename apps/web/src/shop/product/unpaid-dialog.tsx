import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useT } from '../../i18n/product.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Facts } from '../../kit/payment/facts.tsx'
import { useHeldUntil } from '../../kit/payment/held-until.ts'
import type { Pending } from '../../kit/payment/pending.ts'
import classes from './purchase.module.css'

type Props = { pending: Pending; onPay: () => void; onAnother: () => void; onClose: () => void }

/** Offers an unpaid order of the same choice before another is placed. */
export function UnpaidDialog({ pending, onPay, onAnother, onClose }: Props) {
  const t = useT()
  const held = useHeldUntil(pending.deadline)
  return (
    <Dialog onClose={onClose} title={t('unpaid.title')}>
      <div className="stack">
        <p>{t('unpaid.body', held)}</p>
        <Facts pending={pending} />
        <div className={classes.choices}>
          <Button
            component="a"
            href={pending.checkoutUrl}
            target="_blank"
            rel="noopener"
            rightSection={<IconExternalLink size={16} aria-hidden />}
            data-autofocus
            onClick={onPay}
          >
            {t('unpaid.pay')}
          </Button>
          <Button variant="default" onClick={onAnother}>
            {t('unpaid.another')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
