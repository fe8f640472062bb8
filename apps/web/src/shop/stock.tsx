import { useT } from '../i18n/index.ts'
import { numberText } from '../kit/number.ts'
import classes from './stock.module.css'

export function Stock({ count }: { count: number }) {
  const t = useT()
  const level = count <= 0 ? 'none' : count < 64 ? 'few' : 'many'
  return (
    <span
      className={`row unwrapped inline unbroken num ${classes.stock}`}
      style={{ gap: '0.45rem' }}
      data-level={level}
    >
      {count <= 0 ? t('stock.none') : t('stock.count', { count: numberText(count) })}
    </span>
  )
}
