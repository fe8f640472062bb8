import { lazy, useEffect } from 'react'
import { Navigate, Route, Routes, useLocation } from 'react-router'
import { Landing } from '../shop/landing/page.tsx'
import { AdminOnly, CustomerOnly, SignedIn } from './guards.tsx'
import { Layout } from './layout.tsx'
import { NotFound } from './not-found.tsx'

const Product = lazy(() => import('../shop/product/page.tsx'))
const Support = lazy(() => import('../shop/support/page.tsx'))
const Policy = lazy(() => import('../shop/policy/page.tsx'))
const Login = lazy(() => import('../shop/login/page.tsx'))
const SignUp = lazy(() => import('../shop/sign-up/page.tsx'))
const Dashboard = lazy(() => import('../account/shell/dashboard.tsx'))
const Proxies = lazy(() => import('../account/proxies/page.tsx'))
const Settings = lazy(() => import('../account/settings/page.tsx'))
const Rewards = lazy(() => import('../account/rewards/page.tsx'))
const PromoCodes = lazy(() => import('../account/rewards/promo-codes.tsx'))
const GiftCards = lazy(() => import('../account/rewards/gift-cards.tsx'))
const Invite = lazy(() => import('../account/invite/page.tsx'))
const AdminOrders = lazy(() => import('../admin/orders/page.tsx'))
const AdminGiftCards = lazy(() => import('../admin/gift-cards/page.tsx'))

/** A new page starts at its top, as a page that was loaded would. */
function useTop() {
  const { pathname, hash } = useLocation()
  useEffect(() => {
    if (hash) document.getElementById(hash.slice(1))?.scrollIntoView()
    else window.scrollTo(0, 0)
  }, [pathname, hash])
}

export function Pages() {
  useTop()
  return (
    <Routes>
      <Route element={<Layout />}>
        <Route index element={<Landing />} />
        <Route path="product" element={<Product />} />
        <Route path="support" element={<Support />} />
        <Route path="policy" element={<Policy />} />
        <Route path="login" element={<Login />} />
        <Route path="createAccount" element={<SignUp />} />
        <Route element={<SignedIn />}>
          <Route path="dashboard" element={<Dashboard />}>
            <Route element={<CustomerOnly />}>
              <Route path="index/proxies/:id?" element={<Proxies />} />
              <Route path="index/setting" element={<Settings />} />
              <Route path="index/rewards" element={<Rewards />} />
              <Route path="index/promocodeUser" element={<PromoCodes />} />
              <Route path="index/giftcardUser" element={<GiftCards />} />
              <Route path="index/invite" element={<Invite />} />
            </Route>
            <Route element={<AdminOnly />}>
              <Route path="index/orders/:username?" element={<AdminOrders />} />
              <Route path="index/giftcard" element={<AdminGiftCards />} />
            </Route>
            <Route index element={<Navigate to="/dashboard/index/proxies" replace />} />
            <Route path="index" element={<Navigate to="/dashboard/index/proxies" replace />} />
          </Route>
        </Route>
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  )
}
