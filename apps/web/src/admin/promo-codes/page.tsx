import type { Coupon } from '@netlet/contract'
import { IconCloudSearch, IconCloudUpload } from '@tabler/icons-react'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { discountText } from '../../kit/money.ts'
import { CouponForm } from '../../kit/schemas.ts'
import {
  choiceField,
  code,
  column,
  date,
  defineResource,
  discountField,
  integer,
  optional,
  textField,
  yesNo
} from '../kit/index.ts'
import { platformColumn, platformFilter } from '../platform-codes/on-platform.tsx'

const TYPES = ['1', '2']

/** Promo codes. Each belongs to one customer, who can use it at the checkout. */
export default defineResource({
  key: 'promo-codes',
  list: rewards.coupons,
  nameOf: coupon => coupon.code,
  columns: [
    integer('id'),
    column('username', (coupon: Coupon) => coupon.username),
    code('code', { lead: true }),
    column('code_type', (coupon: Coupon) => <Type type={coupon.code_type} />),
    column('discount', (coupon: Coupon) => discountText(coupon), { align: 'end' }),
    yesNo('is_used'),
    platformColumn({ kind: 'coupon', list: rewards.coupons }, (coupon: Coupon) => coupon.is_used),
    date('created_at')
  ],
  filters: [platformFilter],
  form: {
    schema: CouponForm,
    fields: [
      textField('username'),
      textField('code', { mono: true }),
      discountField('discount', 'discount_type'),
      optional(choiceField('discount_type', ['amount', 'percent'], 'codes.type')),
      choiceField('code_type', TYPES, 'promo-codes.type')
    ],
    create: rewards.createCoupon,
    update: rewards.updateCoupon,
    undo: true
  },
  remove: {
    route: rewards.deleteCoupon,
    confirm: (t, { code, username, ...coupon }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), t('promo-codes.removal', { code, discount: discountText(coupon), username })].join(
        '\n'
      ),
      danger: true
    })
  },
  batch: [
    { name: 'coupon.check', icon: IconCloudSearch },
    { name: 'coupon.create_there', icon: IconCloudUpload }
  ],
  csv: true
})

function Type({ type }: { type: 1 | 2 }) {
  const t = useT()
  return t(`promo-codes.type.${type}`)
}
