import { useMay } from '../../api/may.ts'
import { catalog, inventory, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { useCommand, WithReason, WorkButton } from '../kit/index.ts'
import classes from './choices.module.css'

const invalidate = [catalog.priceDrift, catalog.products, inventory.rules, settings.health]

type Props = {
  drift: { id: number; name: string; price: string; platform_price: string }
  /** Why neither can be done now. */
  whyNot?: string | undefined
  /** The two prices are one now. */
  onDone?: () => void
}

/** The two ways to make a price of ours and the platform's one, for those who may. */
export function PriceChoices({ drift, whyNot, onDone }: Props) {
  const t = useT()
  const { mayCall } = useMay()
  const take = useCommand(catalog.takePlatformPrice, {
    invalidate,
    confirm: {
      title: t('health.drift.take'),
      body: t('health.drift.takeBody', {
        name: drift.name,
        price: money(drift.platform_price),
        former: money(drift.price)
      })
    }
  })
  const write = useCommand(catalog.writePlatformPrice, {
    invalidate,
    confirm: {
      title: t('health.drift.write'),
      body: t('health.drift.writeBody', { name: drift.name, price: money(drift.price) })
    }
  })
  // What is decided is what is shown here.
  const decision = { params: { id: drift.id }, body: { price: drift.price, platform_price: drift.platform_price } }
  if (!mayCall(catalog.takePlatformPrice)) return null
  const done = async (mended: Promise<boolean>) => {
    if (await mended) onDone?.()
  }
  return (
    <div className={classes.choices}>
      <WithReason why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="default"
          working={take.running}
          onClick={() => void done(take.run(decision))}
        >
          {t('health.drift.take')}
        </WorkButton>
      </WithReason>
      <WithReason why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="default"
          working={write.running}
          onClick={() => void done(write.run(decision))}
        >
          {t('health.drift.write')}
        </WorkButton>
      </WithReason>
    </div>
  )
}
