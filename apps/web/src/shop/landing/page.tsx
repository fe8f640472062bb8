import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { Button } from '@mantine/core'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { useSkipTarget } from '../../kit/skip-links.ts'
import { useTitle } from '../../kit/use-title.ts'
import { Below } from './below.tsx'
import { CollectionSlider } from './collection-slider.tsx'
import classes from './landing.module.css'
import { ProductTable } from './product-table.tsx'
import { Proof } from './proof.tsx'
import { TagPicker } from './tag-picker.tsx'
import { tagsIn, withTags } from './tags.ts'

/** Rows that the landing page shows before 'See more'. */
const ROWS = 8

export function Landing() {
  const t = useT()
  useTitle(t('landing.title'))
  useSkipTarget('plans', t('skip.plans'))
  const [query, setQuery] = useSearchParams()
  const tags = tagsIn(query)
  const setTags = (ids: number[]) => setQuery(before => withTags(before, ids), { preventScrollReset: true })
  const all = useQuery({ ...read(catalog.products, { query: { limit: ROWS } }), enabled: tags.length === 0 })
  const matching = useQuery({
    ...read(catalog.recommended, { query: { tags: tags.join(',') } }),
    enabled: tags.length > 0
  })
  const shown = tags.length > 0 ? matching : all
  const products = tags.length > 0 ? matching.data?.slice(0, ROWS) : all.data?.data

  return (
    <>
      <section className="wide hero">
        <div className="hero-words">
          <h1>{t('landing.title')}</h1>
          <p className="hero-lead">{t('landing.lead')}</p>
          <div className="row hero-actions">
            <Button component={Link} to="/product" size="md">
              {t('landing.browse')}
            </Button>
            <Button component={Link} to="/support" size="md" variant="default">
              {t('landing.ask')}
            </Button>
          </div>
        </div>
        <BlockArt seed="127.10.0.0/16" cols={30} rows={14} className={classes.art} />
      </section>
      <Proof />
      <CollectionSlider />
      <section className={`wide ${classes.find}`} aria-labelledby="find">
        <h2 id="find">{t('landing.find')}</h2>
        <p className={`dim ${classes.hint}`}>{t('landing.findHint')}</p>
        <TagPicker applied={tags} onConfirm={setTags} />
        <div id="plans">
          <ProductTable
            products={products}
            pending={shown.isPending}
            error={shown.error}
            rows={ROWS}
            onRetry={() => void shown.refetch()}
            onReset={tags.length > 0 ? () => setTags([]) : undefined}
          />
        </div>
      </section>
      <Below />
    </>
  )
}
