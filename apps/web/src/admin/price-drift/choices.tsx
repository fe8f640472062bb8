import { useMay } from '../../api/session.ts'
import { catalog, inventory, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { useCommand, UnavailableHint, WorkButton } from '../kit/index.ts'

const invalidate = [catalog.priceDrift, catalog.products, inventory.rules, settings.health]

type Props = {
  drift: { id: number; name: string; price: string; platform_price: string }
  /** Why both are unavailable now. */
  whyNot?: string | undefined
  /** Called when the two prices agree. */
  onDone?: () => void
}

/** Buttons that resolve a difference between our price and the platform's, for roles that may. */
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
  // Send the shown prices, so that the decision applies only to them.
  const decision = { params: { id: drift.id }, body: { price: drift.price, platform_price: drift.platform_price } }
  if (!mayCall(catalog.takePlatformPrice)) return null
  const done = async (mended: Promise<boolean>) => {
    if (await mended) onDone?.()
  }
  return (
    <div className="row stretch" style={{ gap: '0.4rem' }}>
      <UnavailableHint why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="default"
          working={take.running}
          onClick={() => void done(take.run(decision))}
        >
          {t('health.drift.take')}
        </WorkButton>
      </UnavailableHint>
      <UnavailableHint why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="default"
          working={write.running}
          onClick={() => void done(write.run(decision))}
        >
          {t('health.drift.write')}
        </WorkButton>
      </UnavailableHint>
    </div>
  )
}
