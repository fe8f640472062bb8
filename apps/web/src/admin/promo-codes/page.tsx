import type { Coupon } from '@netlet/contract'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { CouponForm } from '../../kit/schemas.ts'
import {
  choiceField,
  code,
  column,
  date,
  defineResource,
  integer,
  money,
  moneyField,
  textField,
  yesNo
} from '../kit/index.ts'

const TYPES = ['1', '2']

/** Promo codes: each belongs to one customer, who sees it and can use it at the checkout. */
export default defineResource({
  key: 'promo-codes',
  list: rewards.coupons,
  nameOf: coupon => coupon.code,
  columns: [
    integer('id'),
    column('username', (coupon: Coupon) => coupon.username),
    code('code', { lead: true }),
    column('code_type', (coupon: Coupon) => <Type type={coupon.code_type} />),
    money('discount', { prefix: '$' }),
    yesNo('is_used'),
    date('created_at')
  ],
  form: {
    schema: CouponForm,
    fields: [
      textField('username'),
      textField('code', { mono: true }),
      moneyField('discount'),
      choiceField('code_type', TYPES, 'promo-codes.type')
    ],
    create: rewards.createCoupon,
    update: rewards.updateCoupon,
    undo: true
  },
  remove: {
    route: rewards.deleteCoupon,
    confirm: (t, { code, discount, username }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), t('promo-codes.removal', { code, discount, username })].join('\n'),
      danger: true
    })
  },
  csv: true
})

function Type({ type }: { type: 1 | 2 }) {
  const t = useT()
  return t(`promo-codes.type.${type}`)
}
