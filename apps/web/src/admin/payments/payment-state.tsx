import type { Payment } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'

const TONES: Record<Payment['state'], Tone> = { accepted: 'good', held: 'bad', ignored: 'off', refunded: 'off' }

export function PaymentStateBadge({ state }: { state: Payment['state'] }) {
  const t = useT()
  return <StateBadge tone={TONES[state]}>{t(`payments.now.${state}`)}</StateBadge>
}
